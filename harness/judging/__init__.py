"""Judge turns and conversations: scenarios, rules, findings, outcomes and blame."""
