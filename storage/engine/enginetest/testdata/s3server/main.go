// Command s3server is the S3 server of the tests: versitygw with objects as files in a folder.
// The program of versitygw has stores at Azure and ScoutFS as well, which would only take time to compile.
//
//	ROOT_ACCESS_KEY_ID=... ROOT_SECRET_ACCESS_KEY=... s3server -port 127.0.0.1:7070 -sidecar METADATA ROOT
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "s3server:", err)
		os.Exit(1)
	}
}

// run serves the buckets of a folder until ctx ends. Limits are those that the program of
// versitygw has by default.
func run(ctx context.Context, args []string) error {
	config := embedgw.Config{
		RootUserAccess: os.Getenv("ROOT_ACCESS_KEY_ID"), RootUserSecret: os.Getenv("ROOT_SECRET_ACCESS_KEY"),
		MaxConnections: 250_000, MaxRequests: 100_000, MultipartMaxParts: 10_000,
	}
	options := posix.PosixOpts{Concurrency: 5000, IOBufferSize: 1 << 20, CopyObjectThreshold: 5 << 30}
	flags := flag.NewFlagSet("s3server", flag.ContinueOnError)
	port := flags.String("port", "", "the `address` to listen on")
	flags.StringVar(&config.Region, "region", "", "the region of the buckets")
	flags.StringVar(&config.CertFile, "cert", "", "the certificate for TLS, a PEM `file`")
	flags.StringVar(&config.KeyFile, "key", "", "the key of the certificate, a PEM `file`")
	flags.StringVar(&options.SideCarDir, "sidecar", "", "the `folder` for metadata")
	flags.StringVar(&options.VersioningDir, "versioning-dir", "", "the `folder` for versions of objects")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("give one folder, whose folders are the buckets")
	}
	config.Ports = []string{*port}
	metadata, err := meta.NewSideCar(options.SideCarDir)
	if err != nil {
		return err
	}
	files, err := posix.New(flags.Arg(0), metadata, options)
	if err != nil {
		return err
	}
	return embedgw.RunVersityGW(ctx, files, &config)
}
