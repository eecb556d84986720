"""Tasks, keys, the vault and the journal. Has never heard of film."""
