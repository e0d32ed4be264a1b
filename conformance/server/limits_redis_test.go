package server

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/guardrails/redisbuckets"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

func onRedis(t *testing.T, server *enginetest.RedisServer) bucketStore {
	t.Helper()
	return bucketStore{Buckets: openBuckets(t, server.URL), now: core.SystemClock}
}

// redisConn returns a connection with which a test reads or changes the data of the Redis
// server directly.
func redisConn(t *testing.T, server *enginetest.RedisServer) redis.Conn {
	t.Helper()
	conn, err := redis.DialURLContext(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() }) //nolint:errcheck // the test is over
	return conn
}

var bucketName = regexp.MustCompile(`^mailhelm:calls:[0-9a-f]{32}:[0-9]+$`)

func TestWhatIsKeptTellsNothingAndExpires(t *testing.T) {
	t.Parallel()
	server := enginetest.Redis(t)
	s, inside := onRedis(t, server), redisConn(t, server)
	s.take(t, someBucketKey(), 5, 1)
	s.take(t, guardrails.BucketKey{
		Resource: access.Agent, OrgID: core.NewID(), Environment: core.Live, CredentialID: "https://ann.example.com/client.json",
	}, 3, 3)
	names, err := redis.Strings(inside.Do("KEYS", "*"))
	if err != nil || len(names) != 2 {
		t.Fatalf("%q, %v", names, err)
	}
	for _, name := range names {
		if !bucketName.MatchString(name) {
			t.Errorf("a bucket is named %q", name)
		}
		if seconds, err := redis.Int(inside.Do("TTL", name)); err != nil || seconds <= 0 || seconds > 60 {
			t.Errorf("%s expires in %d s, %v", name, seconds, err)
		}
	}
}

func TestAForgottenScriptIsLoadedAgain(t *testing.T) {
	t.Parallel()
	server := enginetest.Redis(t)
	s, key, since := onRedis(t, server), someBucketKey(), core.SystemClock()
	s.take(t, key, 5, 1)
	if _, err := redisConn(t, server).Do("SCRIPT", "FLUSH"); err != nil {
		t.Fatal(err)
	}
	got, _ := s.take(t, key, 5, 1)
	s.want(t, got, 5, 2, since)
}

// TestARestart checks that calls use Redis again after the Redis server was stopped and
// started. The server has lost the buckets, so they must count as full.
func TestARestart(t *testing.T) {
	t.Parallel()
	server := enginetest.Redis(t)
	s, key, since := onRedis(t, server), someBucketKey(), core.SystemClock()
	s.take(t, key, 2, 2)
	server.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, _, err := s.Take(ctx, key, 2, 1); err == nil {
		t.Error("a stopped Redis answered")
	}
	server.Start(t)
	got, admitted := s.take(t, key, 2, 1)
	if !admitted {
		t.Error("refused by a bucket that was forgotten")
	}
	s.want(t, got, 2, 1, since)
}

// TestTwoProcessesShareABucket starts two processes that each try to take 200 tokens from
// one bucket in Redis. Together they must get exactly the 12 tokens that the bucket holds.
func TestTwoProcessesShareABucket(t *testing.T) {
	t.Parallel()
	server := enginetest.Redis(t)
	s, key := onRedis(t, server), someBucketKey()
	const limit = 12
	var admitted atomic.Int64
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), takerVariable+"="+server.URL, takerVariable+"_ORG="+key.OrgID)
			output, err := cmd.Output()
			var n int64
			if _, scan := fmt.Sscan(string(output), &n); err != nil || scan != nil {
				t.Errorf("%q, %v, %v", output, err, scan)
			}
			admitted.Add(n)
		})
	}
	running.Wait()
	if n := admitted.Load(); n != limit {
		t.Errorf("%d were let in with a limit of %d", n, limit)
	}
	if _, more := s.take(t, key, limit, 1); more {
		t.Error("one more was let in")
	}
}

const takerVariable = "MAILHELM_TEST_TAKER"

// init makes the test binary a helper process of TestTwoProcessesShareABucket if the
// environment variable MAILHELM_TEST_TAKER is set. The process tries to take 200 tokens
// from one bucket, prints how many it got, and exits.
func init() {
	url := os.Getenv(takerVariable)
	if url == "" {
		return
	}
	buckets, err := redisbuckets.Open(redisbuckets.Config{URL: url})
	admitted := 0
	for i := 0; i < 200 && err == nil; i++ {
		var ok bool
		key := guardrails.BucketKey{Resource: access.API, OrgID: os.Getenv(takerVariable + "_ORG"), Environment: core.Live}
		if _, ok, err = buckets.Take(context.Background(), key, 12, 1); ok {
			admitted++
		}
	}
	if err != nil {
		os.Exit(1)
	}
	fmt.Println(admitted) //nolint:forbidigo // the answer to the parent process
	os.Exit(0)
}

// TestFailuresTakeNoLongerThanAllowed checks calls with a deadline of 50 ms while Redis is
// stopped, paused or silent, or refuses the connection. They must return an error soon
// after the deadline.
func TestFailuresTakeNoLongerThanAllowed(t *testing.T) {
	t.Parallel()
	paused := enginetest.Redis(t)
	if _, err := redisConn(t, paused).Do("CLIENT", "PAUSE", 60_000, "ALL"); err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() //nolint:errcheck // the test is over
	stopped := enginetest.Redis(t)
	stopped.Stop()
	locked := enginetest.Redis(t)
	for name, url := range map[string]string{
		"paused":         paused.URL,
		"silent":         "redis://" + silent.Addr().String(),
		"stopped":        stopped.URL,
		"wrong password": strings.Replace(locked.URL, ":redis-", ":secret-", 1),
		"not TLS":        strings.Replace(locked.URL, "redis://", "rediss://", 1),
	} {
		t.Run(name, func(t *testing.T) {
			buckets := openBuckets(t, url)
			for range 3 {
				begun := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				_, admitted, err := buckets.Take(ctx, someBucketKey(), 5, 1)
				cancel()
				// 1.5 seconds allow for a busy machine, and are far below the default
				// timeouts of the Redis library.
				if took := time.Since(begun); err == nil || admitted || took > 1500*time.Millisecond {
					t.Errorf("admitted %t after %v: %v", admitted, took, err)
				}
				if err != nil && (strings.Contains(err.Error(), redisPassword) || strings.Contains(err.Error(), "secret-password")) {
					t.Errorf("the password is told: %v", err)
				}
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for url, good := range map[string]bool{
		"redis://localhost":                    true,
		"redis://:secret@10.0.0.1:6380/2":      true,
		"rediss://user:secret@redis.example":   true,
		"rediss://[::1]:6379/0":                true,
		"":                                     false,
		"redis:secret":                         false,
		"redis://":                             false,
		"http://:secret@localhost":             false,
		"redis://:secret@localhost/none":       false,
		"redis://:secret@localhost/0?secret=1": false,
		"redis://:secret@localhost/-1":         false,
		"redis://:secret@localhost/0#secret":   false,
		"redis://:secret@%zz":                  false,
		"redis://:secret@localhost:port":       false,
		// Without verification of the certificate, a machine between Mailhelm and Redis
		// could read the password.
		"rediss://:secret@localhost?skip_verify=true": false,
	} {
		buckets, err := redisbuckets.Open(redisbuckets.Config{URL: url})
		if (err == nil) != good {
			t.Errorf("%s: %v", url, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error tells the password: %v", err)
		}
		if err == nil {
			buckets.Close() //nolint:errcheck // nothing was opened
		}
	}
}
