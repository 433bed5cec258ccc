"""What the values of any board can tell of its systems, whoever computed them."""
