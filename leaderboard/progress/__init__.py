"""Systems and teams over the periods of a campaign."""
