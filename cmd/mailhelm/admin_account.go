package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/host"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage/engine"
)

type adminAccount struct {
	Connect         accountConnect         `cmd:"" help:"Say how an organization's sending account is reached."`
	Show            accountShow            `cmd:"" help:"Show how it is reached, without the secret."`
	Verify          accountVerify          `cmd:"" help:"Ask the account, and say what is wrong."`
	TemplateVersion accountTemplateVersion `cmd:"" name:"template-version" help:"Record which infrastructure template the customer applied."`
	Disconnect      accountDisconnect      `cmd:"" help:"Forget how the account is reached, and its credentials."`
}

// Help is shown below the summary.
func (adminAccount) Help() string {
	return `An organization sends through an account of its own: at Amazon SES (ses), an SMTP server (smtp) or the simulated one of this installation (simulator), which is also what an organization without a connection has. Connecting stores the credentials sealed with the master key and asks the account nothing; verify does. A server that runs feels a change within three seconds.

Events come to {base_url} followed by the ingest address that connect prints. It names the organization and proves nothing: events are signed by the notification topic of --topic-arn, or bring the key of --new-ingest-key in the header x-api-key. For a role, its trust policy has to name the external id that connect prints; without an access key it is taken on with the key in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the server.

Examples:

    mailhelm admin account connect acme --provider ses --region eu-central-1 --access-key-id AKIDEXAMPLE000000 --secret-stdin < secret.txt
    mailhelm admin account connect acme --provider ses --region eu-central-1 --role-arn arn:aws:iam::111122223333:role/mailhelm --topic-arn arn:aws:sns:eu-central-1:111122223333:mailhelm
    mailhelm admin account connect acme --provider smtp --endpoint smtp.example.com:587 --access-key-id mailer --secret-file password.txt --identity example.com --max-24-hour 2000 --max-rate 5
    mailhelm admin account verify acme
    mailhelm admin account template-version acme 13
    mailhelm admin account show acme --json
    mailhelm admin account disconnect acme`
}

// accountTarget is what the commands on one organization's account take.
type accountTarget struct {
	adminTarget
	MasterKey string `hidden:"" secret:"whole" group:"storage"`
	Org       string `arg:"" help:"Slug or id of the organization."`
}

// accountSession is an admin command on one organization's account.
type accountSession struct {
	*session
	org         core.Org
	connections sending.Connections
	connecting  sending.Connecting
}

// on opens what the command needs: the database, and the key that opens secrets.
func (t accountTarget) on(p *program, do func(context.Context, accountSession) error) error {
	return t.with(p, func(ctx context.Context, s *session) error {
		org, err := s.org(ctx, t.Org)
		if err != nil {
			return err
		}
		master, err := s.masterKey(t.MasterKey)
		if err != nil {
			return err
		}
		queue, err := s.db.NewJobs(engine.JobsConfig{})
		if err != nil {
			return err
		}
		connections := s.db.Connections(master)
		return do(ctx, accountSession{s, org, connections, sending.Connecting{
			Connections: connections, Transactor: s.db, Clock: s.cfg.Clock, Record: s.record,
			KeepList: s.keepList, Follow: host.SyncAccount(queue),
		}})
	})
}

// keepList is for an account that cannot have a contact list; see [host.KeepList].
func (s *session) keepList(ctx context.Context, orgID string) error {
	embedded, err := simulator.Open(s.cfg.AccountFile(), simulator.Options{Clock: s.cfg.Clock})
	if err != nil {
		return err
	}
	return errors.Join(host.KeepList(ctx, embedded, orgID), embedded.Close())
}

// masterKey opens the key that the server has. Opening would make a fresh one,
// which cannot be the right one.
func (s *session) masterKey(configured string) (signing.MasterKey, error) {
	cfg := s.cfg
	cfg.MasterKey = configured
	if _, err := os.Stat(cfg.MasterKeyFile()); configured == "" && errors.Is(err, fs.ErrNotExist) {
		return signing.MasterKey{}, fmt.Errorf("there is no master key in %s: name the server's data folder with --data, or set MAILHELM_MASTER_KEY", cfg.DataDir)
	}
	return cfg.OpenMasterKey()
}

// record writes a line of the organization's audit log.
func (s *session) record(ctx context.Context, orgID, action string, detail map[string]any) error {
	if detail == nil {
		detail = map[string]any{}
	}
	text, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("audit detail of %s: %w", action, err)
	}
	return s.db.Audit().AppendAudit(ctx, access.AuditEvent{
		ID: core.NewID(), OrgID: orgID, OccurredAt: s.cfg.Clock(), Action: action,
		ActorKind: s.admin.Actor.Kind, ActorID: s.admin.Actor.ID, SubjectID: orgID, Detail: string(text),
	})
}

// connection is the organization's.
func (s accountSession) connection(ctx context.Context) (sending.Connection, error) {
	c, err := s.connections.Connection(ctx, s.org.ID)
	if notFound(err) {
		return c, fmt.Errorf("no sending account is connected to %s: 'mailhelm admin account connect %s' does it", s.org.Slug, s.org.Slug)
	}
	return c, err
}

// connectionJSON is a connection as it is shown, without the secret.
type connectionJSON struct {
	OrgID           string           `json:"org_id"`
	Provider        sending.Provider `json:"provider"`
	AccountID       string           `json:"account_id"`
	Region          string           `json:"region"`
	Endpoint        string           `json:"endpoint"`
	AccessKeyID     string           `json:"access_key_id"`
	HasSecret       bool             `json:"has_secret"`
	RoleARN         string           `json:"role_arn"`
	ExternalID      string           `json:"external_id"`
	TopicARN        string           `json:"topic_arn"`
	Identities      []string         `json:"identities"`
	Max24HourSend   int64            `json:"max_24_hour_send"`
	MaxSendRate     int64            `json:"max_send_rate"`
	TemplateVersion int              `json:"template_version"`
	LatestVersion   int              `json:"latest_template_version"`
	IngestAddress   string           `json:"ingest_address"`
	HasIngestKey    bool             `json:"has_ingest_key"`
	CreatedAt       time.Time        `json:"created_at"`
	UpdatedAt       time.Time        `json:"updated_at"`
	IngestKey       string           `json:"ingest_key,omitempty"`
}

// ingestAddress is below the API's address.
const ingestAddress = "/ingest/ses/"

func newConnectionJSON(c sending.Connection, ingestKey string) connectionJSON {
	return connectionJSON{
		OrgID: c.OrgID, Provider: c.Provider, AccountID: c.AccountID, Region: c.Region, Endpoint: c.Endpoint,
		AccessKeyID: c.AccessKeyID, HasSecret: c.Secret != "", RoleARN: c.RoleARN, ExternalID: c.ExternalID, TopicARN: c.TopicARN,
		Identities: append([]string{}, c.Identities...), Max24HourSend: c.Max24HourSend, MaxSendRate: c.MaxSendRate,
		TemplateVersion: c.TemplateVersion, LatestVersion: sending.LatestTemplateVersion,
		IngestAddress: ingestAddress + c.IngestPath, HasIngestKey: c.IngestKeyHash != nil,
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, IngestKey: ingestKey,
	}
}

func (s *session) printConnection(c sending.Connection, ingestKey string) error {
	shown := newConnectionJSON(c, ingestKey)
	if s.json {
		return s.printJSON(shown)
	}
	rows := [][]string{{"provider", string(shown.Provider)}}
	for _, row := range [][]string{
		{"account", shown.AccountID},
		{"region", shown.Region},
		{"endpoint", shown.Endpoint},
		{"access key id", shown.AccessKeyID},
		{"role", shown.RoleARN},
		{"external id", externalIDWords(c)},
		{"topic", shown.TopicARN},
		{"identities", strings.Join(shown.Identities, ", ")},
		{"in 24 hours", limitWords(shown.Max24HourSend, "recipients")},
		{"a second", limitWords(shown.MaxSendRate, "messages")},
	} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	if c.Provider != sending.SMTP { // a mail server has no stack and reports nothing
		rows = append(rows,
			[]string{"template", templateWords(shown.TemplateVersion, shown.LatestVersion)},
			[]string{"ingest address", "{base_url}" + shown.IngestAddress})
	}
	if ingestKey != "" {
		rows = append(rows, []string{"ingest key", ingestKey}, []string{"", "Keep it now: it is not shown again."})
	}
	return s.printTable("", rows)
}

// externalIDWords is "" for an account without roles.
func externalIDWords(c sending.Connection) string {
	if c.Provider != sending.SES {
		return ""
	}
	return c.ExternalID
}

// templateWords are the version that somebody recorded, and the newest.
func templateWords(applied, latest int) string {
	if applied == 0 {
		return fmt.Sprintf("none recorded; %d is the newest", latest)
	}
	return fmt.Sprintf("%d of %d", applied, latest)
}

// limitWords is "" for no limit.
func limitWords(limit int64, of string) string {
	if limit == 0 {
		return ""
	}
	return fmt.Sprintf("at most %d %s", limit, of)
}

type accountConnect struct {
	accountTarget
	Provider     string   `help:"ses, smtp or simulator." enum:"ses,smtp,simulator" required:"" placeholder:"NAME" once:""`
	AccountID    string   `name:"account-id" help:"The account's twelve digits at Amazon. Default: verify finds out." once:""`
	Region       string   `help:"Region of the account, such as eu-central-1." once:""`
	Endpoint     string   `help:"Another address than the region's own, as a URL. For smtp, host:port." once:""`
	AccessKeyID  string   `name:"access-key-id" help:"Id of the access key. For smtp, the user name." once:""`
	SecretStdin  bool     `name:"secret-stdin" help:"Read the secret of the access key, or the password, from the first line of standard input." xor:"secret" field:"secret" once:""`
	SecretFile   string   `name:"secret-file" help:"Read it from the first line of a file." xor:"secret" field:"secret" placeholder:"FILE" once:""`
	RoleARN      string   `name:"role-arn" help:"Role to take on." once:""`
	TopicARN     string   `name:"topic-arn" help:"The notification topic from which events are taken, and from no other." once:""`
	Identity     []string `help:"A domain or an address that an smtp account sends from; may be repeated. With none, its server alone judges senders." field:"identities" sep:"none" placeholder:"DOMAIN"`
	Max24Hour    int64    `name:"max-24-hour" help:"How many recipients an smtp account may have in 24 hours. Default: no limit." field:"max_24_hour_send" placeholder:"N" once:""`
	MaxRate      int64    `name:"max-rate" help:"How many messages an smtp account may send in a second. Default: no limit." field:"max_send_rate" placeholder:"N" once:""`
	NewIngestKey bool     `name:"new-ingest-key" help:"Make a key for events that come without a signature, and print it, once." once:""`
}

// Run stores the connection.
func (c *accountConnect) Run(p *program) error {
	secret, err := c.secret(p.stdin)
	if err != nil {
		return err
	}
	return c.on(p, func(ctx context.Context, s accountSession) error {
		described := sending.NewConnection{
			OrgID: s.org.ID, Provider: sending.Provider(c.Provider), AccountID: c.AccountID, Region: c.Region, Endpoint: c.Endpoint,
			AccessKeyID: c.AccessKeyID, Secret: secret, RoleARN: c.RoleARN, TopicARN: c.TopicARN,
			Identities: c.Identity, Max24HourSend: c.Max24Hour, MaxSendRate: c.MaxRate, MayReachPrivate: true,
		}
		var connected sending.Connection
		key := ""
		err := s.db.InTx(ctx, func(ctx context.Context) error {
			var err error
			connected, err = s.connecting.Connect(ctx, described)
			if err == nil && c.NewIngestKey {
				connected, key, err = s.connecting.NewIngestKey(ctx, s.org.ID)
			}
			return err
		})
		if err != nil {
			return err
		}
		return s.printConnection(connected, key)
	})
}

// secret reads the first line of where it is, "" when it is nowhere.
func (c *accountConnect) secret(stdin io.Reader) (string, error) {
	switch {
	case c.SecretStdin:
		return firstLine(stdin)
	case c.SecretFile != "":
		file, err := os.Open(c.SecretFile)
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }() // it was only read
		return firstLine(file)
	}
	return "", nil
}

func firstLine(r io.Reader) (string, error) {
	lines := bufio.NewScanner(r)
	if !lines.Scan() {
		return "", errors.Join(errors.New("there is no secret to read"), lines.Err())
	}
	if line := strings.TrimSpace(lines.Text()); line != "" {
		return line, nil
	}
	return "", errors.New("the first line holds no secret")
}

type accountShow struct{ accountTarget }

// Run shows the connection.
func (c *accountShow) Run(p *program) error {
	return c.on(p, func(ctx context.Context, s accountSession) error {
		connected, err := s.connection(ctx)
		if err != nil {
			return err
		}
		return s.printConnection(connected, "")
	})
}

type accountTemplateVersion struct {
	accountTarget
	Version int `arg:"" field:"template_version" help:"Number of the template."`
}

// Run records the version.
func (c *accountTemplateVersion) Run(p *program) error {
	return c.on(p, func(ctx context.Context, s accountSession) error {
		connected, err := s.connecting.SetTemplateVersion(ctx, s.org.ID, c.Version)
		if err != nil {
			return err
		}
		return s.printConnection(connected, "")
	})
}

type accountDisconnect struct{ accountTarget }

// Run forgets the connection.
func (c *accountDisconnect) Run(p *program) error {
	return c.on(p, func(ctx context.Context, s accountSession) error {
		if err := s.connecting.Disconnect(ctx, s.org.ID); err != nil {
			return err
		}
		if s.json {
			return s.printJSON(map[string]any{"org_id": s.org.ID, "connected": false})
		}
		return s.printTable("", [][]string{{"org", s.org.Slug}, {"connected", "no"}})
	})
}
