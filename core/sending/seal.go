package sending

// Sealer encrypts secrets before they are stored, so that a copy of the database does not
// reveal them. Decryption needs the same purpose and the same row id as encryption. So a
// value that is copied to another row does not decrypt.
type Sealer interface {
	Seal(purpose, id string, plain []byte) ([]byte, error)
	Open(purpose, id string, sealed []byte) ([]byte, error)
}
