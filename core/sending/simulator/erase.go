package simulator

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
)

// eraseSQL deletes everything about an address. $2 is the address in lower case, $3 the same as
// a JSON string, because events and messages have addresses in JSON.
var eraseSQL = []string{
	`DELETE FROM contacts WHERE org_id = $1 AND email_key = $2 AND $3 <> ''`,
	`DELETE FROM suppressed WHERE org_id = $1 AND email_key = $2 AND $3 <> ''`,
	`DELETE FROM outbox WHERE org_id = $1 AND (unsubscribes = $2 OR instr(lower(event), $3) > 0)`,
	`DELETE FROM mails WHERE org_id = $1 AND (instr(lower(recipients), $3) > 0 OR $2 = '')`,
}

// EraseAddress deletes the contact with an address, its entry in the suppression list, the
// messages to it and their events that are not published yet. It fails with NotConnected if the
// organization has no account.
func (s *Simulator) EraseAddress(ctx context.Context, orgID, email string) error {
	return s.call(ctx, MethodEraseAddress, func(ctx context.Context) error {
		if _, err := readAccount(ctx, s.selectAccount, orgID); err != nil {
			return err
		}
		key := emailKey(email)
		quoted, err := json.Marshal(key)
		if err != nil {
			return err
		}
		err = inTx(ctx, s.file.writer, func(tx *sql.Tx) error {
			for _, text := range eraseSQL {
				if _, err := tx.ExecContext(ctx, text, orgID, key, strings.ToLower(string(quoted))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		// The write-ahead log still has the deleted content.
		_, err = s.file.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
		return err
	})
}
