package objects

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Step is one call with which a store is tested.
type Step string

// The steps of a test, in order.
const (
	StepWrite  Step = "write"
	StepRead   Step = "read"
	StepLink   Step = "link"
	StepDelete Step = "delete"
	StepAbsent Step = "absent" // a deleted object must be known as missing
)

// stepWords says in a sentence which step failed: "Mailhelm could not ...".
//
//nolint:gosec // names of fields and steps, no secret
var stepWords = map[Step]string{
	StepWrite: "write a test object", StepRead: "read the test object", StepLink: "download the test object by a link",
	StepDelete: "delete the test object", StepAbsent: "find out that the deleted test object is missing",
}

// Finding is the result of one step.
type Finding struct {
	Step Step `json:"step"`
	OK   bool `json:"ok"`
	// Detail says what failed, and Next what to do; both are "" if the step passed.
	Detail string `json:"detail,omitempty"`
	Next   string `json:"next,omitempty"`
	// Err is the error, for the log.
	Err error `json:"-"`
}

const (
	probeContent = "This object tests the storage of received mail. It can be deleted.\n"
	// probeLife is the life of the link to the test object.
	probeLife = 5 * time.Minute
	// probeTime limits a test. A person waits for it.
	probeTime = 40 * time.Second
	// cleanupTime limits the deletion of the test object after a failed step.
	cleanupTime = 10 * time.Second
)

// Downloader returns the first bytes of the answer to a link, at most limit.
type Downloader func(ctx context.Context, url string, limit int) ([]byte, error)

// Prove tests a store of an organization with a small object: it writes, reads, links and
// deletes the object, and checks that it is missing then. It stops at the first step that
// fails, deletes the object if it can, and returns the findings up to there. A nil download
// leaves out the step StepLink.
func Prove(ctx context.Context, s Store, orgID string, now time.Time, download Downloader) []Finding {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	p := probe{store: s, key: RawKey(orgID, "probe-"+core.NewID()), now: now, download: download}
	steps := []struct {
		name Step
		do   func(context.Context) error
	}{{StepWrite, p.write}, {StepRead, p.read}, {StepLink, p.link}, {StepDelete, p.delete}, {StepAbsent, p.absent}}
	var findings []Finding
	for _, step := range steps {
		if step.name == StepLink && download == nil {
			continue
		}
		err := step.do(ctx)
		findings = append(findings, findingOf(step.name, err))
		if err != nil {
			p.cleanUp(ctx)
			break
		}
	}
	return findings
}

// probe is a test object.
type probe struct {
	store    Store
	key      string
	now      time.Time
	download Downloader
}

func (p probe) write(ctx context.Context) error {
	return p.store.Put(ctx, p.key, strings.NewReader(probeContent), int64(len(probeContent)), "text/plain")
}

// errContent means that an object has another content than the one that was written.
var errContent = errors.New("the content of the test object differs from what was written")

func (p probe) read(ctx context.Context) error {
	body, err := p.store.Open(ctx, p.key)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(io.LimitReader(body, 2*int64(len(probeContent))))
	if err = errors.Join(err, body.Close()); err == nil && string(content) != probeContent {
		err = errContent
	}
	return err
}

func (p probe) link(ctx context.Context) error {
	url, err := p.store.Link(ctx, p.key, Link{Until: p.now.Add(probeLife), Filename: "test.txt", ContentType: "text/plain"})
	if err != nil {
		return err
	}
	content, err := p.download(ctx, url, 2*len(probeContent))
	if err == nil && string(content) != probeContent {
		err = errContent
	}
	return err
}

func (p probe) delete(ctx context.Context) error { return p.store.Delete(ctx, p.key) }

// errStillThere means that a deleted object can still be read.
var errStillThere = errors.New("the deleted object can still be read")

func (p probe) absent(ctx context.Context) error {
	body, err := p.store.Open(ctx, p.key)
	if core.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(errStillThere, body.Close())
}

// cleanUp deletes the test object after a failed step, as far as that is possible.
func (p probe) cleanUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	_ = p.store.Delete(ctx, p.key)
}

// advice has, for each cause, what is wrong and what to do.
var advice = map[Cause]struct{ wrong, next string }{
	NotAllowed:     {"the address of the endpoint is not allowed", "Use an endpoint on the public Internet with the port 443. The operator can allow private networks with --bucket-networks."},
	UnknownHost:    {"the host name of the endpoint does not exist", "Check the spelling of the endpoint and of the bucket."},
	BadCertificate: {"the certificate of the endpoint is not trusted", "Give the server a certificate of a public authority for this host name. If the name of the bucket has a dot, use path-style addresses."},
	TimedOut:       {"the server did not answer in time", "Check that the server runs, and try again."},
	NotConnected:   {"there was no connection to the server", "Check the endpoint and that its firewall allows connections from this server, and try again."},
	BadKey:         {"the server does not accept the access key", "Enter the id of the access key and its secret again."},
	Denied:         {"the access key has no permission for this", "Allow the access key s3:PutObject, s3:GetObject and s3:DeleteObject for the objects, and s3:ListBucket for the bucket."},
	NoBucket:       {"there is no such bucket", "Create the bucket, or correct its name."},
	OtherRegion:    {"the bucket is in another region", "Enter the region of the bucket."},
	WrongClock:     {"the clocks of this server and of the endpoint differ too much", "Set the clock of the one that is wrong."},
	OtherCause:     {"the server refused the request", "Check the settings, and whether the server has disturbances."},
}

// findingOf returns the finding of a step that ended with err, or passed if err is nil.
func findingOf(step Step, err error) Finding {
	if err == nil {
		return Finding{Step: step, OK: true}
	}
	f := Finding{Step: step, Err: err}
	var wrong, code string
	failure, ok := errors.AsType[*Failure](err)
	switch {
	case ok:
		a := advice[failure.Cause]
		wrong, f.Next, code = a.wrong, a.next, failure.Code
		if step == StepAbsent && failure.Cause == Denied {
			f.Next = "Allow the access key s3:ListBucket for the bucket: without it, Amazon S3 does not say that an object is missing."
		}
	case errors.Is(err, context.DeadlineExceeded):
		a := advice[TimedOut]
		wrong, f.Next = a.wrong, a.next
	case core.IsNotFound(err):
		wrong, f.Next = "the object that was just written is missing", "Check that nothing deletes objects of this bucket at once."
	case errors.Is(err, errContent), errors.Is(err, errStillThere):
		wrong, f.Next = err.Error(), "Check that the endpoint is the S3 server itself and not a cache in front of it."
	default:
		wrong, f.Next = "the storage failed", "Check the disk and the folder of this server, and see its log."
	}
	if code != "" {
		code = " (" + code + ")"
	}
	f.Detail = "Mailhelm could not " + stepWords[step] + ": " + wrong + code + "."
	return f
}

// Failed returns the finding of the step that failed; false if all passed.
func Failed(findings []Finding) (Finding, bool) {
	for _, f := range findings {
		if !f.OK {
			return f, true
		}
	}
	return Finding{}, false
}

// refusal returns the error for settings whose test failed, with the code
// core.CodeValidationFailed. It names no field, because the message is a whole sentence.
func (f Finding) refusal() error {
	return &core.Error{Code: core.CodeValidationFailed, Message: f.Detail, Next: f.Next, Err: f.Err}
}
