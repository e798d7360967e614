class Traceparse < Formula
  desc "{{DESCRIPTION}}"
  homepage "{{REPOSITORY}}"
  version "{{VERSION}}"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "{{REPOSITORY}}/releases/download/v{{VERSION}}/traceparse-{{VERSION}}-aarch64-apple-darwin.tar.gz"
      sha256 "{{SHA256 aarch64-apple-darwin}}"
    end
    on_intel do
      url "{{REPOSITORY}}/releases/download/v{{VERSION}}/traceparse-{{VERSION}}-x86_64-apple-darwin.tar.gz"
      sha256 "{{SHA256 x86_64-apple-darwin}}"
    end
  end

  on_linux do
    on_arm do
      url "{{REPOSITORY}}/releases/download/v{{VERSION}}/traceparse-{{VERSION}}-aarch64-unknown-linux-musl.tar.gz"
      sha256 "{{SHA256 aarch64-unknown-linux-musl}}"
    end
    on_intel do
      url "{{REPOSITORY}}/releases/download/v{{VERSION}}/traceparse-{{VERSION}}-x86_64-unknown-linux-musl.tar.gz"
      sha256 "{{SHA256 x86_64-unknown-linux-musl}}"
    end
  end

  def install
    bin.install "traceparse"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/traceparse.bash" => "traceparse"
    zsh_completion.install "completions/_traceparse"
    fish_completion.install "completions/traceparse.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/traceparse --version")
    (testpath/"empty.xml").write "<trace-query-result/>"
    assert_match "no CPU table", shell_output("#{bin}/traceparse empty.xml 2>&1", 1)
  end
end
