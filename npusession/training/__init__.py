"""Training: loops, telling the runtime where the training is, prepared runs, checkpoints, progress."""
