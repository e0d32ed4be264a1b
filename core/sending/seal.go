package sending

// Sealer encrypts secrets before they are stored, so that the database cannot read
// them. Purpose and id are authenticated with the value: a value moved to another row
// does not decrypt.
type Sealer interface {
	Seal(purpose, id string, plain []byte) ([]byte, error)
	Open(purpose, id string, sealed []byte) ([]byte, error)
}
