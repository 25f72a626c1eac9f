"""What a client costs: time, memory, and bytes held back, as ratios that machines share."""
