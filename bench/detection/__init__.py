"""What detection gets right on test data of other projects: prices, GTINs, CSV dialects, encodings, pages."""
