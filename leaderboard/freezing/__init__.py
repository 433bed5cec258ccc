"""A closed evaluation as a folder that needs no server: its pages, its data, and what describes and checks them."""
