def record(outcome, source, chosen, seeds, folder, say):
    pass
