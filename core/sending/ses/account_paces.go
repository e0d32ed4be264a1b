package ses

import (
	"crypto/sha256"
	"fmt"
	"sync"
)

// maxPaces is the maximum number of sets of credentials whose send rates are cached.
const maxPaces = 10_000

// paces holds one limiter of the send rate for each set of credentials. So organizations
// that reach an account with the same credentials share its rate, and a reopened connection
// keeps its rate. The account id is not the key, because a customer could claim the id of
// another account and slow down its owner.
type paces struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]*pace
}

func newPaces() *paces { return &paces{all: map[[sha256.Size]byte]*pace{}} }

func (p *paces) paceOf(c Config) *pace {
	name := sha256.Sum256(fmt.Appendf(nil, "%q", []string{
		c.Region, c.Endpoint, c.Credentials.AccessKeyID, c.Credentials.Secret, c.Credentials.Token, c.RoleARN, c.ExternalID,
	}))
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.all[name]; known != nil {
		return known
	}
	if len(p.all) >= maxPaces {
		clear(p.all)
	}
	p.all[name] = newSendPace()
	return p.all[name]
}
