package dyno.runner.drivers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.Key;
import java.security.KeyStoreSpi;
import java.security.Provider;
import java.security.Security;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.Enumeration;
import java.util.List;

/** A store of certificates that is a PEM file, as other clients of MySQL take it: Java has stores of other formats alone. */
public final class PemStore extends KeyStoreSpi {
    static final String TYPE = "PEM";

    private final List<Certificate> certificates = new ArrayList<>();

    /** For Java's security. */
    public PemStore() {}

    static void register() {
        Security.addProvider(new Provider("dyno", "1", "certificates in PEM files") {
            {
                put("KeyStore." + TYPE, PemStore.class.getName());
            }
        });
    }

    @Override
    public void engineLoad(InputStream file, char[] password) throws IOException, CertificateException {
        if (file != null) {
            certificates.addAll(CertificateFactory.getInstance("X.509").generateCertificates(file));
        }
    }

    private Certificate at(String alias) {
        return certificates.get(Integer.parseInt(alias));
    }

    @Override
    public Certificate engineGetCertificate(String alias) {
        return engineContainsAlias(alias) ? at(alias) : null;
    }

    @Override
    public Enumeration<String> engineAliases() {
        List<String> aliases = new ArrayList<>();
        for (int place = 0; place < certificates.size(); place++) {
            aliases.add(String.valueOf(place));
        }
        return Collections.enumeration(aliases);
    }

    @Override
    public boolean engineContainsAlias(String alias) {
        return alias.matches("\\d{1,6}") && Integer.parseInt(alias) < certificates.size();
    }

    @Override
    public int engineSize() {
        return certificates.size();
    }

    @Override
    public boolean engineIsCertificateEntry(String alias) {
        return engineContainsAlias(alias);
    }

    @Override
    public String engineGetCertificateAlias(Certificate certificate) {
        int place = certificates.indexOf(certificate);
        return place < 0 ? null : String.valueOf(place);
    }

    @Override
    public Key engineGetKey(String alias, char[] password) {
        return null;
    }

    @Override
    public Certificate[] engineGetCertificateChain(String alias) {
        return null;
    }

    @Override
    public Date engineGetCreationDate(String alias) {
        return null;
    }

    @Override
    public boolean engineIsKeyEntry(String alias) {
        return false;
    }

    @Override
    public void engineSetKeyEntry(String alias, Key key, char[] password, Certificate[] chain) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void engineSetKeyEntry(String alias, byte[] key, Certificate[] chain) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void engineSetCertificateEntry(String alias, Certificate certificate) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void engineDeleteEntry(String alias) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void engineStore(OutputStream stream, char[] password) {
        throw new UnsupportedOperationException();
    }
}
