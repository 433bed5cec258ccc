"""What the organiser's rooms show: one module a subject. Every function raises NotFound for whoever may not know."""
