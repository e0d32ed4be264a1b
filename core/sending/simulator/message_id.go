package simulator

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"time"
)

// randomOf returns the random source for the events of one message. Equal seed,
// organization and message number give equal random numbers.
func (s *Simulator) randomOf(orgID string, number int64) *rand.Rand {
	b := binary.BigEndian.AppendUint64(nil, s.seed)
	b = binary.BigEndian.AppendUint64(b, uint64(number))
	sum := sha256.Sum256(append(b, orgID...))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:]))) //nolint:gosec // repeatable on purpose
}

// mintID returns an id in the format of the message and feedback ids of SES: a number with
// the time in milliseconds, a UUID, and six zeros.
func mintID(random *rand.Rand, at time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], random.Uint64())
	binary.BigEndian.PutUint64(b[8:], random.Uint64())
	u := hex.EncodeToString(b[:])
	return fmt.Sprintf("0100%012x-%s-%s-4%s-8%s-%s-000000", at.UnixMilli()&0xffffffffffff, u[:8], u[8:12], u[13:16], u[17:20], u[20:])
}
