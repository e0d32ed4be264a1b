package storage

// EncodeAttributes returns the stored form of attributes.
func EncodeAttributes(attributes map[string]any) (string, error) { return encodeAttributes(attributes) }
