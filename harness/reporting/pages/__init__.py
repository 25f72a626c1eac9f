"""The pages of the HTML report: each module computes the data of one template."""
