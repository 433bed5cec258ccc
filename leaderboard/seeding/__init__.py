"""Seeds: campaigns that come with the product, loaded through the services as anybody else's would be."""
