package grants

import "errors"

// autoStore uses the keyring, and files where no keyring works, such as on a server without
// a desktop. It reads both, because a person may sign in where no keyring is available.
type autoStore struct {
	keyring keyringStore
	files   fileStore
}

// Load implements [Store].
func (s autoStore) Load(address string) (Grant, error) {
	if g, err := s.keyring.Load(address); err == nil {
		return g, nil
	}
	return s.files.Load(address)
}

// Save implements [Store]. A grant in a file stays there, so that it is never in two places:
// the older copy would have a used refresh token.
func (s autoStore) Save(g Grant) error {
	if s.inFile(g.Address) {
		return s.files.Save(g)
	}
	if s.keyring.Save(g) == nil {
		return nil
	}
	return s.files.Save(g)
}

// Delete implements [Store]. It ignores a keyring from which the grant cannot be read.
func (s autoStore) Delete(address string) error {
	err := s.files.Delete(address)
	if _, unreadable := s.keyring.Load(address); unreadable != nil {
		return err
	}
	return errors.Join(err, s.keyring.Delete(address))
}

// Where implements [Store].
func (s autoStore) Where(address string) string {
	if s.inFile(address) {
		return s.files.Where(address)
	}
	return s.keyring.Where(address)
}

func (s autoStore) inFile(address string) bool {
	_, err := s.files.Load(address)
	return err == nil
}
