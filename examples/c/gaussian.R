# examples/c/gaussian.R - a sum of Gaussians at points, from R, by the few lines of
# gaussian_r.c.
#
#     Rscript gaussian.R path/to/gaussian_r.so

dyn.load(commandArgs(trailingOnly = TRUE)[1])

reduce <- function(text, ...) .Call("r_reduce", text, list(...))

x <- outer(0:3, 0:1, function(i, d) (i + 2 * d) / 4)
y <- outer(0:4, 0:1, function(j, d) (2 * j - d) / 5)
b <- 1 + 0:4

a <- reduce("sum_j exp(-|x_i - y_j|^2 / (2 l^2)) b_j",
            x = x, y = y, b = b, l = 0.5)
for (i in seq_along(a)) cat(sprintf("a[%d] = %.6f\n", i - 1, a[i]))

# A mistake is an error, whose code does not change with versions.
message <- tryCatch(
  reduce("sum_j expp(x_i - y_j)", x = x, y = y),
  error = conditionMessage
)
cat("error: ", sub(":.*", "", message), "\n", sep = "")
