"""Turn -> findings: scenarios, rules, outcomes and blame."""
