package simulator_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

func BenchmarkContact(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "account.db"), simulator.Options{})
	seed(b, s, "org", 10_000)
	for _, name := range []string{"hit", "miss"} {
		email := "person-5000@example.com"
		if name == "miss" {
			email = "nobody@example.com"
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Contact(b.Context(), "org", email); err != nil && !sending.IsNotFound(err) {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkContactParallel(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "account.db"), simulator.Options{})
	seed(b, s, "org", 10_000)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.Contact(b.Context(), "org", "person-5000@example.com"); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkPutContact(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "account.db"), simulator.Options{})
	seed(b, s, "org", 1000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c := person(i % 1000)
		c.UnsubscribeAll = i/1000%2 == 0
		if err := s.PutContact(b.Context(), "org", c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSeed(b *testing.B) {
	for _, n := range []int{500, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "account.db"), simulator.Options{})
			for i := 0; b.Loop(); i++ {
				seed(b, s, fmt.Sprint("org-", i), n)
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "account.db")
	seed(b, open(b, path, simulator.Options{}), "org", 500)
	for b.Loop() {
		s, err := simulator.Open(path, simulator.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Overview(context.Background(), "org"); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSend sends a message of 20 KB, with and without keeping it.
func BenchmarkSend(b *testing.B) {
	for name, kept := range map[string]int{"kept": simulator.DefaultKeptMails, "not kept": 0} {
		b.Run(name, func(b *testing.B) {
			s := keeping(b, kept)
			m := message("ann@example.net")
			m.Content.HTML = strings.Repeat("<p>Hello, this is a paragraph.</p>\n", 600)
			for b.Loop() {
				if _, err := s.Send(b.Context(), "org", m); err != nil {
					b.Fatal(err)
				}
				s.now = s.now.Add(time.Minute)
			}
		})
	}
}
