package simulator

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// The causes of failures that have different error codes in the API of SES but the same
// kind in package sending.
var (
	ErrSendingPaused = errors.New("simulator: sending is not enabled")
	ErrDailyQuota    = errors.New("simulator: daily message quota exceeded")
	ErrSendingRate   = errors.New("simulator: maximum sending rate exceeded")
	ErrMissing       = errors.New("simulator: the account has no configuration set or template of this name")
)

func rejectedError(cause error) error { return &sending.Failure{Kind: sending.Rejected, Err: cause} }

func throttledError(cause error, wait time.Duration) error {
	return &sending.Failure{Kind: sending.Throttled, RetryAfter: max(wait, time.Millisecond), Err: cause}
}

// dispatch is one call of Send or SendBulk, with the state of the account that was read at
// its start.
type dispatch struct {
	s          *Simulator
	w          *change
	now        time.Time
	account    sending.Overview
	verified   []string // identities, in lower case
	suppresses []string // the reasons, such as BOUNCE, for which suppressed addresses get no message
	env        sending.Envelope
	identity   string // the identity that covers From
	fromDomain string
	templates  map[string]sending.Template
}

// dispatch reads the state of the account and checks the envelope of the message. It fails
// with Rejected if the account or the sender may not send.
func (s *Simulator) dispatch(w *change, env sending.Envelope) (*dispatch, error) {
	d := &dispatch{s: s, w: w, now: s.clock().UTC(), env: env, templates: map[string]sending.Template{}}
	var err error
	if d.account, err = readAccount(w.ctx, w.tx.StmtContext(w.ctx, s.accountInTx), w.orgID); err != nil {
		return nil, err
	}
	if !d.account.SendingEnabled {
		return nil, rejectedError(ErrSendingPaused)
	}
	if err := checkEnvelope(env); err != nil {
		return nil, err
	}
	for _, read := range []func() error{d.readPolicy, d.readVerified} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return d, d.checkFrom()
}

// readPolicy reads the suppression policy of the configuration set: the reasons for which
// addresses are suppressed. Without a configuration set, the default of SES applies:
// bounces and complaints.
func (d *dispatch) readPolicy() error {
	if d.env.ConfigurationSet == "" {
		d.suppresses = []string{policyBounce, policyComplaint}
		return nil
	}
	var policy string
	err := d.w.tx.QueryRowContext(d.w.ctx, `SELECT suppression_policy FROM configuration_sets WHERE org_id = $1 AND name = $2`,
		d.w.orgID, d.env.ConfigurationSet).Scan(&policy)
	if errors.Is(err, sql.ErrNoRows) {
		return rejectedError(ErrMissing)
	}
	d.suppresses = strings.Fields(policy)
	return err
}

func (d *dispatch) readVerified() error {
	rows, err := d.w.tx.QueryContext(d.w.ctx, `SELECT identity_key FROM identities WHERE org_id = $1 AND verification = $2`,
		d.w.orgID, string(sending.Success))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // errors are in rows.Err
	for rows.Next() {
		var identity string
		if err := rows.Scan(&identity); err != nil {
			return err
		}
		d.verified = append(d.verified, identity)
	}
	return rows.Err()
}

func (d *dispatch) checkFrom() error {
	from, err := mailbox(d.env.From)
	if err != nil {
		return err
	}
	d.fromDomain = from[strings.LastIndexByte(from, '@')+1:]
	if d.identity = d.verifiedIdentity(from); d.identity == "" {
		return rejectedError(errors.New("simulator: the sender is not verified"))
	}
	return nil
}

// verifiedIdentity returns the verified identity that allows sending from an address: the
// address itself, its domain, or a parent domain. It returns "" if there is none.
func (d *dispatch) verifiedIdentity(address string) string {
	address = strings.ToLower(address)
	if slices.Contains(d.verified, address) {
		return address
	}
	domain := address[strings.LastIndexByte(address, '@')+1:]
	for domain != "" {
		if slices.Contains(d.verified, domain) {
			return domain
		}
		_, domain, _ = strings.Cut(domain, ".")
	}
	return ""
}

// template returns the template with this name. It reads each template at most once for a
// call of Send or SendBulk. It fails with Rejected if the template does not exist.
func (d *dispatch) template(name string) (sending.Template, error) {
	if t, ok := d.templates[name]; ok {
		return t, nil
	}
	var t sending.Template
	err := d.w.tx.QueryRowContext(d.w.ctx, selectTemplate, d.w.orgID, name).Scan(&t.Name, &t.Subject, &t.Text, &t.HTML)
	if errors.Is(err, sql.ErrNoRows) {
		return t, rejectedError(ErrMissing)
	}
	d.templates[name] = t
	return t, err
}
