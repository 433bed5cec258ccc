"""What is given, declared once: from a model of `inputs` come forms, options, bodies, schemas and tables."""
