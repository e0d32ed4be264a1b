package sending

// Sealer encrypts what a database must keep but not be able to read. The purpose
// and the id of what is sealed are bound to it: a value that was moved to another
// row does not open.
type Sealer interface {
	Seal(purpose, id string, plain []byte) ([]byte, error)
	Open(purpose, id string, sealed []byte) ([]byte, error)
}
