package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	binary := flag.String("program", "bin/mailhelm", "path of the program mailhelm")
	port := flag.Int("port", 9080, "where to look for 14 free ports")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	h := &host{ctx: ctx}
	err := h.run(func() {
		t := start(h, *binary, *port, nil, func(step string) { fmt.Fprintf(os.Stderr, "starting %s ...\n", step) })
		t.describe(os.Stdout)
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "stopping ...")
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// describe writes where everything is, and what to try.
func (t *topology) describe(out io.Writer) {
	fmt.Fprintf(out, `
API servers      %s and %s
dashboard        %s
status pages     %s
PostgreSQL       %s
standby          %s
PgBouncer        %s
Redis            %s
S3               %s
data and logs    %s

Write at one server and read at the other:

  curl -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' \
    -d '{"email":"ada@example.com"}' %s/v1/contacts
  curl -H 'Authorization: Bearer %s' %s/v1/contacts/ada%%40example.com

Create a person who can sign in, and check everything:

  %s admin user create ada@example.com --name Ada --org %s --role owner --config %s
  %s doctor --role api --port %d --config %s

Stop a process with kill, and look at what the others do. Ctrl-C stops everything and removes the data.
`,
		t.apis[0], t.apis[1], t.app, strings.Join(t.admins[:], " "), t.primary.URL(), t.standby.URL(), t.bouncer.URL(t.primary.URL()),
		t.redis.URL, t.bucket.URL, t.folder, t.key, t.apis[0], t.key, t.apis[1],
		t.binary, t.org, t.config, t.binary, t.first, t.config)
}
