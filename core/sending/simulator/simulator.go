package simulator

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	sqlite3 "modernc.org/sqlite/lib"
)

var _ sending.Account = (*Simulator)(nil)

// Simulator is the simulated account of every organization. It is safe for concurrent use.
// Several processes may use its file at once.
//
// It has many methods because it implements the whole interface [sending.Account]. Its
// other methods seed accounts, review requests for production access, and store attributes
// of contacts. All methods use the same file, clock and faults.
type Simulator struct {
	file     *file
	clock    core.Clock
	timeout  time.Duration
	pageSize int
	faults   *Faults
	outbox   *Outbox

	seed      uint64
	behaviour Behaviour
	keptMails int
	preparedStatements
}

// Options configure a Simulator. Outside tests, the zero value is suitable.
type Options struct {
	// Clock gives the times that are stored; nil means core.SystemClock.
	Clock core.Clock
	// CallTimeout is the time limit of one call of a sending.Account method; zero means five
	// seconds. Contact, FindSuppressed and Template ignore it while no fault is set.
	CallTimeout time.Duration
	// PageSize is the number of entries in a page, such as contacts; the maximum and default
	// is 1,000.
	PageSize int
	// Seed initializes the random numbers for faults, events of recipients, and message ids.
	Seed uint64
	// Behaviour sets what recipients do.
	Behaviour Behaviour
	// KeptMails is the number of the newest messages of each organization that are kept with
	// their content, for people who read them; see [Simulator.Mails]. Zero keeps none.
	KeptMails int
}

const (
	defaultCallTimeout = 5 * time.Second
	maxPageSize        = 1000
	openTimeout        = 10 * time.Second
)

// Open opens the SQLite file at path, or creates it if it is missing. Its folder must
// exist. Open fails for a file of another program or of a newer version, and for a file
// that cannot be read.
func Open(path string, opts Options) (*Simulator, error) {
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout) //nolint:forbidigo // a start has no caller
	defer cancel()
	s := &Simulator{
		clock: opts.Clock, timeout: opts.CallTimeout, pageSize: opts.PageSize, faults: newFaults(opts.Seed),
		seed: opts.Seed, behaviour: opts.Behaviour, keptMails: opts.KeptMails,
	}
	s.outbox = &Outbox{s: s}
	if s.clock == nil {
		s.clock = core.SystemClock
	}
	if s.timeout <= 0 {
		s.timeout = defaultCallTimeout
	}
	if s.pageSize <= 0 || s.pageSize > maxPageSize {
		s.pageSize = maxPageSize
	}
	file, err := openFile(ctx, path)
	if err != nil {
		return nil, openError(path, err)
	}
	s.file = file
	if err := s.prepare(ctx, file); err != nil {
		return nil, openError(path, errors.Join(err, file.close()))
	}
	return s, nil
}

func openError(path string, err error) error {
	if isCode(err, sqlite3.SQLITE_NOTADB) || isCode(err, sqlite3.SQLITE_CORRUPT) {
		return fmt.Errorf("simulated sending account %s is damaged or no such file; restore it, or move it away to start with an empty one: %w", path, err)
	}
	return fmt.Errorf("simulated sending account %s: %w", path, err)
}

// Close closes the SQLite file. Running calls fail.
func (s *Simulator) Close() error { return s.file.close() }

// Faults returns the failures to simulate. The caller may replace or clear them with its
// methods.
func (s *Simulator) Faults() *Faults { return s.faults }

// Outbox returns the store of the undelivered events of all accounts.
func (s *Simulator) Outbox() *Outbox { return s.outbox }

// WithPageSize returns a Simulator that uses the same file as s and returns pages of at
// most size entries. Close only one of the two Simulators.
func (s *Simulator) WithPageSize(size int) *Simulator {
	smaller := *s
	if size > 0 {
		smaller.pageSize = min(size, s.pageSize)
	}
	return &smaller
}

// preparedStatements has the SQL statements that were prepared when the file was opened.
type preparedStatements struct {
	selectAccount, selectIdentities, selectConfigurationSets *sql.Stmt
	selectRecentlySent                                       *sql.Stmt
	selectList, selectTopics                                 *sql.Stmt
	selectContact, selectContacts                            *sql.Stmt
	selectSuppressed, selectSuppressedPage                   *sql.Stmt
	selectTemplate, selectTemplatesPage                      *sql.Stmt
	selectMails, selectMail                                  *sql.Stmt
	// The following statements use the connection for writes.
	suppressedInTx                           *sql.Stmt
	accountInTx, listInTx, topicsInTx        *sql.Stmt
	insertContact, putContact, deleteContact *sql.Stmt
	insertMail                               *sql.Stmt
}

func (p *preparedStatements) prepare(ctx context.Context, f *file) error {
	for _, one := range []struct {
		into **sql.Stmt
		db   *sql.DB
		text string
	}{
		{&p.selectAccount, f.reader, selectAccount},
		{&p.selectRecentlySent, f.reader, selectRecentlySent},
		{&p.selectIdentities, f.reader, selectIdentities},
		{&p.selectConfigurationSets, f.reader, selectConfigurationSets},
		{&p.selectList, f.reader, selectList},
		{&p.selectTopics, f.reader, selectTopics},
		{&p.selectContact, f.reader, selectContact},
		{&p.selectContacts, f.reader, selectContacts},
		{&p.selectSuppressed, f.reader, selectSuppressed},
		{&p.selectSuppressedPage, f.reader, selectSuppressedPage},
		{&p.selectTemplate, f.reader, selectTemplate},
		{&p.selectTemplatesPage, f.reader, selectTemplatesPage},
		{&p.selectMails, f.reader, selectMails},
		{&p.selectMail, f.reader, selectMail},
		{&p.suppressedInTx, f.writer, selectSuppressed},
		{&p.accountInTx, f.writer, selectAccount},
		{&p.listInTx, f.writer, selectList},
		{&p.topicsInTx, f.writer, selectTopics},
		{&p.insertContact, f.writer, insertContact},
		{&p.putContact, f.writer, putContact},
		{&p.deleteContact, f.writer, deleteContact},
		{&p.insertMail, f.writer, insertMail},
	} {
		var err error
		if *one.into, err = one.db.PrepareContext(ctx, one.text); err != nil { //nolint:sqlclosecheck // closed with its handle
			return err
		}
	}
	return nil
}

// call runs do, the body of the account method m, with the simulator's time limit. If a
// simulated fault matches m, call applies the fault. Its error is a *sending.Failure.
func (s *Simulator) call(ctx context.Context, m Method, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	fault := s.faults.draw(m)
	if fault != nil && !fault.TookEffect {
		if err := fault.apply(ctx); err != nil {
			return err
		}
	}
	if err := do(ctx); err != nil {
		return failureOf(err)
	}
	if fault != nil && fault.TookEffect {
		return fault.apply(ctx)
	}
	return nil
}

// pointRead runs do, a query for the method m that takes microseconds. If faults are
// simulated, it does the same as call. Otherwise it checks ctx only once and sets no
// deadline. This saves a timer and a goroutine of the driver: a quarter of the time of the
// most frequent call. A query of a locked file ends after readerBusyMillis.
func (s *Simulator) pointRead(ctx context.Context, m Method, do func(ctx context.Context) error) error {
	if s.faults.active.Load() || ctx.Err() != nil {
		return s.call(ctx, m, do)
	}
	return failureOf(do(context.WithoutCancel(ctx)))
}
