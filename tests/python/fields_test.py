import anadrome
