package host

import (
	"os"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/ses"
)

// Adapters are the providers that a connection can be of, beside the simulator.
// The accounts of one provider share their HTTP connections.
//
// A connection to Amazon that names a role and no access key is reached with the
// installation's own key, in the variables that Amazon's programs read. They
// are no use for anything else.
func Adapters(clock core.Clock) map[sending.Provider]sending.Open {
	return map[sending.Provider]sending.Open{
		sending.SES: ses.Open(ses.Config{
			Credentials: ses.Credentials{
				AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), Secret: os.Getenv("AWS_SECRET_ACCESS_KEY"), Token: os.Getenv("AWS_SESSION_TOKEN"),
			},
			HTTPClient: ses.NewHTTPClient(), Clock: clock,
		}),
	}
}

// newAccounts are everybody's sending accounts.
func newAccounts(clock core.Clock, connections sending.Connections, otherwise sending.Account) *sending.Accounts {
	return sending.NewAccounts(sending.AccountsConfig{
		Connections: connections, Otherwise: otherwise, Open: Adapters(clock), Clock: clock,
	})
}
