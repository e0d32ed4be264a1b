package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/accounts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
)

// sendingAccounts checks that the account of each organization answers: simulated ones, Amazon
// SES and SMTP servers. It sends no mail. Without the master key it checks nothing, because the
// credentials are encrypted. It names each account that does not answer.
func (e *examination) sendingAccounts(ctx context.Context, db *storage.DB) {
	const name = "sending account"
	path := e.cfg.AccountFile()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		e.add(name, OK, path+" does not exist yet; the first start creates it", "")
		return
	}
	account, err := simulator.Open(path, simulator.Options{Clock: e.cfg.Clock})
	if err != nil {
		e.add(name, Fail, err.Error(), "")
		return
	}
	defer account.Close() //nolint:errcheck // nothing was written
	master, err := e.cfg.ReadMasterKey()
	if err == nil {
		err = master.Reload(ctx, db.MasterKeys())
	}
	if err != nil {
		return // reported with the master key and the signing keys
	}
	if err := e.askAccounts(ctx, name, db, account, master); err != nil {
		e.add(name, Fail, err.Error(), "")
	}
}

// askAccounts asks the account of each organization. The error is one of this machine.
func (e *examination) askAccounts(ctx context.Context, name string, db *storage.DB, embedded *simulator.Simulator, master signing.MasterKey) error {
	lists := accounts.NewConsent(db.DB, embedded, nil)
	adapters, err := accounts.NewAdapters(e.cfg, lists)
	if err != nil {
		return err
	}
	defer adapters.Close() //nolint:errcheck // nothing was sent
	all := sending.NewAccounts(sending.AccountsConfig{Connections: db.Connections(master), Otherwise: embedded, Open: adapters.Open, Clock: e.cfg.Clock})
	unmoved, err := lists.Unmoved(ctx)
	if err != nil {
		return err
	}
	for _, id := range unmoved {
		e.add(name, Warn, fmt.Sprintf("organization %s: the contact list of its SMTP account is still in %s", id, e.cfg.AccountFile()),
			"Start the server once; it moves the list into the database. If it is running, its log says why it did not.")
	}
	orgs, err := db.Orgs().OrgIDs(ctx)
	if err != nil {
		return err
	}
	answering := map[sending.Provider]int{}
	for _, id := range orgs {
		org, err := db.Orgs().Org(ctx, id)
		if err != nil {
			return err
		}
		provider, err := all.ProviderOf(ctx, id)
		if err == nil {
			if _, err = all.Overview(ctx, id); err == nil {
				err = all.Probe(ctx, id)
			}
		}
		switch {
		case sending.IsAbsent(err) && provider == sending.Simulated && e.cfg.DatabaseURL != "": // a server creates it at the first use
		case err != nil && (provider == sending.Simulated || provider == ""):
			e.add(name, Warn, fmt.Sprintf("organization %s: the simulated account in %s: %v", org.Slug, e.cfg.AccountFile(), err),
				"Its contact writes answer 503. Restore the file from the backup of the database, or connect an account with 'mailhelm admin account connect'.")
		case err != nil:
			e.add(name, Warn, fmt.Sprintf("organization %s: %s: %v", org.Slug, provider, err), "Run 'mailhelm admin account verify "+org.Slug+"', which names the cause.")
		default:
			answering[provider]++
		}
	}
	e.add(name, OK, fmt.Sprintf("of %d accounts these answer: %d simulated, %d Amazon SES, %d SMTP", len(orgs), answering[sending.Simulated]+answering[""], answering[sending.SES], answering[sending.SMTP]), "")
	return nil
}
