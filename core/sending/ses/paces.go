package ses

import (
	"crypto/sha256"
	"fmt"
	"sync"
)

// maxPaces bounds how many accounts' rates are remembered.
const maxPaces = 10_000

// paces are the send rates of everybody who is reached with the same credentials:
// organizations that share an account share its rate, and a connection that is
// opened anew goes on where it was. The account's id would not do as the name of
// an account: anybody can claim one, and would slow down its owner.
type paces struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]*pace
}

func newPaces() *paces { return &paces{all: map[[sha256.Size]byte]*pace{}} }

func (p *paces) of(c Config) *pace {
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
