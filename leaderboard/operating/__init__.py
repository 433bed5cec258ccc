"""What whoever is on call sees: health, figures, logs, the workers that there are."""
