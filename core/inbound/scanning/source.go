package scanning

import (
	"fmt"
	"io"
	"sync"
)

// source is the message that a client reads. It fails if the message has not the stated
// size: a shortened message must not be judged. It keeps the failures of the message apart
// from those of the scanner.
type source struct {
	mu      sync.Mutex
	from    io.Reader
	left    int64 // bytes that are not read yet
	failure error
	stopped bool
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.failure != nil:
		return 0, s.failure
	case s.stopped:
		return 0, io.ErrClosedPipe
	case s.left == 0:
		return 0, s.end()
	}
	n, err := s.from.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	switch {
	case err == io.EOF && s.left > 0:
		s.failure = fmt.Errorf("%w: %w: it ends %d bytes early", errUnreadable, ErrSize, s.left)
	case err != nil && err != io.EOF:
		s.failure = fmt.Errorf("%w: %w", errUnreadable, err)
	case err == io.EOF:
		err = nil // the next call finds the end
	}
	if s.failure != nil {
		return n, s.failure
	}
	return n, err
}

// end returns io.EOF if the message ends where it should.
func (s *source) end() error {
	var more [1]byte
	n, err := io.ReadFull(s.from, more[:])
	switch {
	case n > 0:
		s.failure = fmt.Errorf("%w: %w: it is longer", errUnreadable, ErrSize)
	case err != io.EOF:
		s.failure = fmt.Errorf("%w: %w", errUnreadable, err)
	default:
		return io.EOF
	}
	return s.failure
}

// stop waits for a Read in progress and makes later ones fail: an HTTP client may read the
// body of a request after the request has failed. It returns the failure of the message.
func (s *source) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	return s.failure
}
