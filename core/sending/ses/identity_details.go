package ses

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	// maxRemembered is the maximum number of identities of one account whose details are
	// cached.
	maxRemembered = 10_000
	// detailGoodFor is how long the details of an identity are cached. It is shorter than
	// the interval of the job that copies identities, so that each run reads current
	// details.
	detailGoodFor = 10 * time.Minute
)

// identityDetail has the fields of an identity that the listing of SES omits.
type identityDetail struct {
	tokens           []string
	configurationSet string
	read             time.Time
}

// identityDetails reads and caches the details of an account's identities. After a listing
// that reached its deadline, the next listing continues with the remaining identities. It
// is safe for concurrent use.
type identityDetails struct {
	api   *sesv2.Client
	clock core.Clock
	pace  *pace // of control calls

	mu    sync.Mutex
	known map[string]identityDetail
}

// detailsOf returns the details of the listed identities by name. It reads from SES the
// identities without cached details, then those whose details are older than detailGoodFor,
// the oldest first. If the deadline of ctx is too near for another read, it returns the old
// details of the remaining identities, or fails if one of them has none.
func (d *identityDetails) detailsOf(ctx context.Context, listed []types.IdentityInfo) (map[string]identityDetail, error) {
	known := d.cachedDetails(listed)
	names := make([]string, len(listed))
	for i, info := range listed {
		names[i] = aws.ToString(info.IdentityName)
	}
	slices.SortStableFunc(names, func(x, y string) int { return known[x].read.Compare(known[y].read) })
	for _, name := range names {
		was, ok := known[name]
		if age := d.clock().Sub(was.read); ok && age >= 0 && age < detailGoodFor {
			continue
		}
		if err := d.pace.wait(ctx, 1); err != nil {
			if ok {
				break
			}
			return nil, err
		}
		detail, err := d.read(ctx, name)
		switch {
		case sending.IsNotFound(err):
			delete(known, name)
		case err != nil:
			return nil, err
		default:
			known[name] = detail
		}
	}
	return known, nil
}

func (d *identityDetails) cachedDetails(listed []types.IdentityInfo) map[string]identityDetail {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := make(map[string]identityDetail, len(listed))
	for _, info := range listed {
		if detail, ok := d.known[aws.ToString(info.IdentityName)]; ok {
			known[aws.ToString(info.IdentityName)] = detail
		}
	}
	return known
}

func (d *identityDetails) read(ctx context.Context, name string) (identityDetail, error) {
	out, err := d.api.GetEmailIdentity(ctx, &sesv2.GetEmailIdentityInput{EmailIdentity: &name})
	if err != nil {
		return identityDetail{}, failureOf(ctx, err)
	}
	detail := identityDetail{configurationSet: aws.ToString(out.ConfigurationSetName), read: d.clock()}
	if out.DkimAttributes != nil {
		detail.tokens = out.DkimAttributes.Tokens
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.known) >= maxRemembered {
		clear(d.known)
	}
	d.known[name] = detail
	return detail, nil
}
