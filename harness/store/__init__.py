"""Tables, migrations, run store, ledger, transcripts."""
