package main

import (
	"github.com/mailhelm/mailhelm/cmd/mailhelm/admin"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/admin/credentials"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/admin/endpoints"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/admin/masterkey"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/admin/person"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/admin/retention"
)

// administration is `mailhelm admin`, the commands of an operator.
type administration struct {
	Org        admin.OrgCommands           `cmd:"" help:"Manage organizations."`
	User       admin.UserCommands          `cmd:"" help:"Manage people and their memberships."`
	Person     person.Commands             `cmd:"" help:"Export or erase the data of a person that an organization writes to."`
	Retention  retention.Commands          `cmd:"" help:"Show and change for how long old records are kept."`
	Key        credentials.KeyCommands     `cmd:"" help:"Manage API keys."`
	Client     credentials.ClientCommands  `cmd:"" help:"Manage OAuth clients."`
	Grant      credentials.GrantCommands   `cmd:"" help:"List and revoke grants: permissions that people gave to clients."`
	Keys       credentials.SigningCommands `cmd:"" help:"List and rotate the keys that sign access tokens."`
	MasterKey  masterkey.Commands          `cmd:"" name:"master-key" help:"Rotate the key that encrypts stored secrets."`
	Account    admin.AccountCommands       `cmd:"" help:"Manage sending accounts."`
	Webhook    endpoints.WebhookCommands   `cmd:"" help:"Manage endpoints that receive message events."`
	Received   endpoints.ReceivedCommands  `cmd:"" help:"Send received mail to webhooks again."`
	Production admin.ProductionCommands    `cmd:"" help:"Close requests for production access."`
	Audit      admin.AuditCommands         `cmd:"" help:"Read the audit log."`
	LogLevel   admin.LogLevelCommand       `cmd:"" help:"Show or change the log level of all processes."`
}

// Help returns the text that --help shows below the summary.
func (administration) Help() string {
	return `Works on the database directly, so everyone with access to the database is an administrator. A server may run on it at the same time and applies every change within five seconds, on PostgreSQL within one second. Name an organization by its slug or its id. Secrets are printed once, to standard output; the database stores only hashes of them.

Examples:

    mailhelm admin org create acme --name "Acme Ltd"
    mailhelm admin user create ada@example.com --name Ada --org acme --role owner
    mailhelm admin key create acme --name CI --scopes read
    mailhelm admin client create acme --name Agent --scopes all --redirect-uri https://agent.example.com/callback
    mailhelm admin audit list acme --json`
}
