package inbox

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core"
)

// Wait is `mailhelm inbox wait`.
type Wait struct {
	client
	ID       string        `arg:"" help:"Id of the inbox."`
	After    int           `help:"Cursor of the previous answer. Default: all messages of the inbox." placeholder:"CURSOR" once:""`
	Timeout  time.Duration `help:"How long to wait, such as 90s or 2m; 0s answers at once. Default: 60s." default:"60s" placeholder:"DURATION" once:""`
	Sender   string        `field:"match_sender" help:"Only mail of this address, or of this domain written as @example.com." placeholder:"ADDRESS" once:""`
	Subject  string        `field:"match_subject" help:"Only mail whose subject contains this text." placeholder:"TEXT" once:""`
	Contains string        `field:"match_contains" help:"Only mail whose subject, text or HTML contains this text." placeholder:"TEXT" once:""`
	Print    string        `help:"What to print: json (default), code (the first one-time code), or link (the first link that confirms, signs in or resets). Mail without one is passed over." enum:"json,code,link" default:"json" placeholder:"WHAT" once:""`
}

// Help returns the text that --help shows below the summary.
func (Wait) Help() string {
	return `Prints "messages" with their texts, attachments, verdicts, and the one-time codes and links found in them, and "cursor" for the next call. Mail that came before counts too; --after leaves it out. On a terminal, the remaining time is shown on standard error.

` + exitText + ` Without mail in time, JSON without messages is printed.

Examples:

    mailhelm inbox wait 0197f6c2-7a3e-7b51-9d40-2f61c0d4b301 --subject code --timeout 2m
    CODE=$(mailhelm inbox wait "$INBOX_ID" --print code) || exit 1
    mailhelm inbox wait "$INBOX_ID" | jq -r '.messages[0].message.text_body'`
}

// longestWait is the longest wait of one call.
const longestWait = 25 * time.Second

// Run waits for mail and prints it. It fails with cli.ErrNothing if none comes in time.
func (c *Wait) Run(p *cli.Program) error {
	end := core.SystemClock().Add(c.Timeout)
	stop := c.showWaiting(p, end)
	got, err := c.wait(p, end)
	stop()
	if err != nil {
		return err
	}
	if _, err := p.Stdout.Write(got.text); err != nil {
		return err
	}
	if !got.came {
		// The exit status is the result; a failed write of the explanation changes nothing.
		_, _ = fmt.Fprintln(p.Stderr, "mailhelm: "+c.nothing(got.passed))
		return cli.ErrNothing
	}
	return nil
}

// outcome is the result of waiting.
type outcome struct {
	text []byte // what is to be printed
	came bool   // text has what the command waited for
	// passed is the number of messages without what the command waited for.
	passed int
}

// nothing returns the explanation for a wait without success.
func (c *Wait) nothing(passed int) string {
	if passed > 0 {
		return fmt.Sprintf("no mail with a %s came in %s; messages without one: %d", c.Print, c.Timeout, passed)
	}
	return fmt.Sprintf("no mail came in %s", c.Timeout)
}

// wait polls until mail comes that the command can print, or until end.
func (c *Wait) wait(p *cli.Program, end time.Time) (outcome, error) {
	query := url.Values{}
	for name, value := range map[string]string{"match_sender": c.Sender, "match_subject": c.Subject, "match_contains": c.Contains} {
		if value != "" {
			query.Set(name, value)
		}
	}
	cursor, passed := strconv.Itoa(c.After), 0
	for {
		wait := min(longestWait, max(0, end.Sub(core.SystemClock())))
		query.Set("after", cursor)
		query.Set("wait", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
		answer, err := c.poll(p, "/v1/inboxes/"+url.PathEscape(c.ID)+"/messages?"+query.Encode(), end)
		if err != nil {
			return outcome{}, err
		}
		arrived, err := readArrived(answer)
		if err != nil {
			return outcome{}, err
		}
		if text, found := arrived.text(c.Print); found {
			return outcome{text: []byte(text + "\n"), came: true}, nil
		}
		n, late := len(arrived.Messages), !core.SystemClock().Before(end)
		switch {
		case c.Print == printJSON && (n > 0 || late):
			text, err := indented(answer)
			return outcome{text: text, came: n > 0}, err
		case c.Print != printJSON && n == 0 && late:
			return outcome{passed: passed}, nil
		}
		passed += n
		cursor = arrived.Cursor
	}
}

// showWaiting shows the time that has passed on a terminal, until the returned function is
// called.
func (c *Wait) showWaiting(p *cli.Program, end time.Time) func() {
	line := cli.NewProgress(p.Stderr, int64(c.Timeout/time.Second), core.SystemClock)
	ticker := time.NewTicker(time.Second)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-ticker.C:
				left := max(0, end.Sub(core.SystemClock())).Round(time.Second)
				line.Show(int64((c.Timeout-left)/time.Second), fmt.Sprintf("waiting for mail, %s left", left))
			case <-stop:
				line.End()
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(stop)
		<-stopped
	}
}
