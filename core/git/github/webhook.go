package github

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/cache"
)

// MaxDelivery is the maximum size of the body of a delivery in bytes. GitHub sends at most 25 MB, for
// pushes with very many commits; their repositories are read by the period instead.
const MaxDelivery = 5 << 20

// How many deliveries are remembered, and for how long.
const (
	maxDeliveries  = 20_000
	deliveriesTime = 24 * time.Hour
)

// The errors of deliveries.
var (
	ErrSignature = errors.New("the signature is missing or wrong")
	ErrRepeated  = errors.New("the delivery was taken already")
	ErrMalformed = errors.New("the delivery has another form")
)

// Delivery is a delivery of a webhook. Event, ID and Signature are the headers X-GitHub-Event,
// X-GitHub-Delivery and X-Hub-Signature-256.
type Delivery struct {
	Event, ID, Signature string
	Body                 []byte
}

// Look says what to read after a delivery: a repository of an installation, or all of its repositories
// if Repository is "". The zero value means nothing.
type Look struct {
	Installation int64
	// Repository is "owner/name".
	Repository string
}

// Deliveries reads deliveries of webhooks. It is safe for use by several goroutines.
type Deliveries struct {
	secret []byte
	clock  core.Clock
	seen   *cache.Cache[string, string]
}

// NewDeliveries returns Deliveries for the secret of the webhook.
func NewDeliveries(secret []byte, clock core.Clock) *Deliveries {
	return &Deliveries{secret: secret, clock: clock, seen: cache.New[string, string](maxDeliveries)}
}

// Read checks a delivery and returns what to look at. It fails with [ErrSignature], [ErrRepeated] or
// [ErrMalformed]. The caller calls [Deliveries.Forget] if it could not do it.
//
// What a delivery reports is never taken over: it says where to look, and the answer comes from the
// API. So a delivery that is repeated after its id is forgotten costs one read.
func (d *Deliveries) Read(del Delivery) (Look, error) {
	if !d.isSigned(del) {
		return Look{}, ErrSignature
	}
	const longest = 100
	if del.ID == "" || len(del.ID) > longest {
		return Look{}, ErrMalformed
	}
	epoch, now := d.seen.Epoch(), d.clock()
	if _, seen := d.seen.Get(del.ID, now); seen {
		return Look{}, ErrRepeated
	}
	look, err := lookOf(del)
	if err != nil {
		return Look{}, err
	}
	d.seen.Put(del.ID, del.ID, now.Add(deliveriesTime), epoch)
	return look, nil
}

// Forget forgets a delivery, so that it is taken if GitHub sends it again.
func (d *Deliveries) Forget(del Delivery) {
	d.seen.Remove(func(id string) bool { return id == del.ID })
}

// isSigned checks the signature in constant time.
func (d *Deliveries) isSigned(del Delivery) bool {
	given, ok := strings.CutPrefix(del.Signature, "sha256=")
	sum, err := hex.DecodeString(given)
	if !ok || err != nil || len(d.secret) == 0 {
		return false
	}
	mac := hmac.New(sha256.New, d.secret)
	_, _ = mac.Write(del.Body) // never fails
	return hmac.Equal(sum, mac.Sum(nil))
}

// event has the members of the events that matter.
type event struct {
	Action       string `json:"action"`
	Ref          string `json:"ref"`
	Installation struct {
		ID int64 `json:"id"`
	} `json:"installation"`
	Repository struct {
		FullName      string `json:"full_name"`
		DefaultBranch string `json:"default_branch"`
		Name          string `json:"name"`
	} `json:"repository"`
	Changes struct {
		Repository struct {
			Name struct {
				From string `json:"from"`
			} `json:"name"`
		} `json:"repository"`
	} `json:"changes"`
	PullRequest struct {
		Head struct {
			Ref string `json:"ref"`
		} `json:"head"`
	} `json:"pull_request"`
}

// lookOf returns what to look at after an event.
func lookOf(del Delivery) (Look, error) {
	var e event
	if err := json.Unmarshal(del.Body, &e); err != nil {
		return Look{}, ErrMalformed
	}
	all, one := Look{Installation: e.Installation.ID}, Look{e.Installation.ID, e.Repository.FullName}
	switch del.Event {
	case "push":
		if e.Ref != "refs/heads/"+e.Repository.DefaultBranch {
			return Look{}, nil
		}
	case "pull_request":
		// Other pull requests change nothing until they are merged, which is a push.
		if !strings.HasPrefix(e.PullRequest.Head.Ref, "mailhelm/") {
			return Look{}, nil
		}
	case "repository":
		if owner, name, _ := strings.Cut(one.Repository, "/"); e.Action == "renamed" && e.Changes.Repository.Name.From != "" && name != "" {
			one.Repository = owner + "/" + e.Changes.Repository.Name.From // the name that connections have
		}
	case "installation", "installation_repositories":
		if all.Installation <= 0 {
			return Look{}, ErrMalformed
		}
		return all, nil
	default:
		return Look{}, nil
	}
	if _, err := repositoryPath(one.Repository); err != nil || one.Installation <= 0 {
		return Look{}, ErrMalformed
	}
	return one, nil
}
