"""An exercise is a property: short programs have to give the same result as with our answer."""
