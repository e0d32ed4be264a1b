package product_test
import ("testing";"time";"github.com/mailhelm/mailhelm/conformance/product")
func TestTiming(t *testing.T) {
	for _, pg := range []bool{false,false,false,true,true,true} {
		t.Run("x", func(t *testing.T){
		s:=time.Now(); product.Start(t, product.Options{Postgres: pg}); t.Log(pg, time.Since(s)); s=time.Now()
		t.Cleanup(func(){t.Log("stop?")}); _ = s })
	}
}
