package ses

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/mailhelm/mailhelm/core/sending"
	"golang.org/x/sync/errgroup"
)

// contactWriters is the maximum number of contacts that PutContacts writes at the same
// time.
const contactWriters = 4

// PutContacts writes the contacts in single calls, a few at a time, because SES has no bulk
// call. After a failure other than Invalid it stops, and the remaining contacts get this
// failure as their outcome. If it stopped and wrote no contact at all, it fails with this
// failure. The call may be repeated.
func (a *Account) PutContacts(ctx context.Context, orgID string, contacts []sending.Contact) ([]*sending.Failure, error) {
	if err := sending.CheckContacts(contacts); err != nil {
		return nil, err
	}
	var stopped atomic.Pointer[sending.Failure]
	var held atomic.Bool
	outcomes := make([]*sending.Failure, len(contacts))
	err := a.sweep(ctx, func(ctx context.Context) error {
		var writers errgroup.Group
		writers.SetLimit(contactWriters)
		for i, c := range contacts {
			writers.Go(func() error {
				if outcomes[i] = stopped.Load(); outcomes[i] != nil {
					return nil
				}
				failure, failed := errors.AsType[*sending.Failure](a.PutContact(ctx, orgID, c))
				switch {
				case !failed:
					held.Store(true)
				case failure.Kind != sending.Invalid:
					stopped.CompareAndSwap(nil, failure)
				}
				outcomes[i] = failure
				return nil
			})
		}
		return writers.Wait()
	})
	if err != nil {
		return nil, err
	}
	if failure := stopped.Load(); failure != nil && !held.Load() {
		return nil, failure
	}
	return outcomes, nil
}
