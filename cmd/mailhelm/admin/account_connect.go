package admin

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core/sending"
)

// accountConnect is `mailhelm admin account connect`. The command line requires only
// --provider. Package core/sending checks the other flags, because each provider needs
// different ones.
type accountConnect struct {
	accountTarget
	// Provider is the kind of sending account. The parser of the command line refuses other
	// values than the three in the enum tag.
	Provider    string `help:"ses, smtp or simulator." enum:"ses,smtp,simulator" required:"" placeholder:"NAME" once:""`
	AccountID   string `name:"account-id" help:"The twelve-digit account id at Amazon. Default: verify looks it up." once:""`
	Region      string `help:"Region of the account, such as eu-central-1." once:""`
	Endpoint    string `help:"Endpoint URL that replaces the default of the region. For smtp, host:port." once:""`
	AccessKeyID string `name:"access-key-id" help:"Id of the access key. For smtp, the user name." once:""`
	// SecretStdin and SecretFile name the source of the secret; at most one may be given.
	// The secret itself is no flag, because other users of the machine can read command
	// lines.
	SecretStdin bool     `name:"secret-stdin" help:"Read the secret of the access key, or the password, from the first line of standard input." xor:"secret" field:"secret" once:""`
	SecretFile  string   `name:"secret-file" help:"Read the secret from the first line of a file." xor:"secret" field:"secret" placeholder:"FILE" once:""`
	RoleARN     string   `name:"role-arn" help:"Role that the server assumes." once:""`
	TopicARN    string   `name:"topic-arn" help:"The only notification topic whose events are accepted." once:""`
	Identity    []string `help:"A domain or address that an smtp account may send from; may be repeated. Without it, only the SMTP server checks senders." field:"identities" sep:"none" placeholder:"DOMAIN"`
	// Max24Hour (recipients in 24 hours) and MaxRate (messages a second) limit an account on
	// an SMTP server. 0 means no limit.
	Max24Hour    int64 `name:"max-24-hour" help:"Recipients that an smtp account may send to in 24 hours. Default: no limit." field:"max_24_hour_send" placeholder:"N" once:""`
	MaxRate      int64 `name:"max-rate" help:"Messages that an smtp account may send in a second. Default: no limit." field:"max_send_rate" placeholder:"N" once:""`
	NewIngestKey bool  `name:"new-ingest-key" help:"Create a key for events without a signature, and print it once." once:""`
}

// Run stores the connection in place of the earlier one, without contacting the account. It
// keeps the earlier connection's ingest path, external id and template version. It keeps
// the ingest key unless --new-ingest-key is given. It keeps the secret if none is given and
// the endpoint and the access key are unchanged.
func (c *accountConnect) Run(p *cli.Program) error {
	secret, err := readSecret(p.Stdin, c.SecretStdin, c.SecretFile)
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
		err := s.DB.InTx(ctx, func(ctx context.Context) error {
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
		return printConnection(s.Session, connected, key)
	})
}

// readSecret returns the first line of standard input if fromStdin is true (--secret-stdin),
// or of the file with a path (--secret-file). Without either it returns "". It does not
// delete the file.
func readSecret(stdin io.Reader, fromStdin bool, path string) (string, error) {
	switch {
	case fromStdin:
		return firstLine(stdin)
	case path != "":
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }() // opened for reading
		return firstLine(file)
	}
	return "", nil
}

// firstLine returns the first line of r without the surrounding white space. It fails
// if that line is empty, because an empty secret is nearly always a mistake.
func firstLine(r io.Reader) (string, error) {
	lines := bufio.NewScanner(r)
	if !lines.Scan() {
		return "", errors.Join(errors.New("the secret is empty; write it as the first line of standard input or of the file"), lines.Err())
	}
	if line := strings.TrimSpace(lines.Text()); line != "" {
		return line, nil
	}
	return "", errors.New("the first line is empty: put the secret there")
}
