package storage

// EncodeAttributes is the stored form of attributes.
func EncodeAttributes(attributes map[string]any) (string, error) { return encodeAttributes(attributes) }
