"""The demonstration: `campaigns` draws and imports them."""
