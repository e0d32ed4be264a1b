package product

import (
	"flag"
	"runtime"
	"strconv"
)

// RunAtOnce sets the number of tests of a package that run at the same time, unless the flag
// -parallel was given or the default is higher. The default, the number of processors, leaves
// processors idle if tests mostly wait for products, browsers and jobs. The function TestMain of
// the package calls it before it runs the tests.
func RunAtOnce(tests int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given || runtime.GOMAXPROCS(0) >= tests {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(tests)); err != nil {
		panic(err) // cannot happen: the flag exists and takes numbers
	}
}
